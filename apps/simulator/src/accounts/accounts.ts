import { ACCOUNT_ID } from '../aws/credentials';
import { SUBSCRIPTION_ID } from '../azure/principal';
import { PROJECT } from '../gcp/service-account';

export const WITH_ACCOUNTS = ['AWS', 'AZURE', 'GCP'] as const;
type WithAccounts = (typeof WITH_ACCOUNTS)[number];

/** An AWS account of the organization, an Azure subscription, a project of Google Cloud. */
export interface Account {
  readonly provider: WithAccounts;
  readonly account: string;
  readonly name: string;
  readonly state: string;
  /** of AWS, those that were made there; of Azure, none: the app has no assignment in it */
  readonly roles: readonly string[];
  /** its roles forgot the condition on the external id, or on the subject */
  readonly isOpen: boolean;
  /** of Google: how many searches do not show it yet */
  readonly late: number;
}

const HOME: Readonly<Record<WithAccounts, string>> = {
  AWS: ACCOUNT_ID,
  AZURE: SUBSCRIPTION_ID,
  GCP: PROJECT,
};

/** The accounts besides the first one of each cloud, and the targets that are in them instead of in that one. */
export class Accounts {
  private readonly accounts = new Map<string, Account>();
  /** by provider and target */
  private readonly owners = new Map<string, string>();

  /** Makes or replaces an account, and moves targets into it. */
  set(account: Account, targets: readonly string[]): void {
    this.accounts.set(`${account.provider} ${account.account}`, account);
    for (const target of targets) this.owners.set(`${account.provider} ${target}`, account.account);
  }

  of(provider: WithAccounts, account: string): Account | undefined {
    return this.accounts.get(`${provider} ${account}`);
  }

  has(provider: WithAccounts, account: string): boolean {
    return account === HOME[provider] || this.of(provider, account) !== undefined;
  }

  ownerOf(provider: WithAccounts, target: string): string {
    return this.owners.get(`${provider} ${target}`) ?? HOME[provider];
  }

  /** All of a cloud, the first one included. */
  list(provider: WithAccounts): Account[] {
    const home = { provider, account: HOME[provider], name: 'Simulated', state: 'ACTIVE' };
    return [
      { ...home, roles: ['simulated'], isOpen: false, late: 0 },
      ...[...this.accounts.values()].filter((account) => account.provider === provider),
    ];
  }

  /** Google's search, which shows new projects late. */
  search(): Account[] {
    const all = this.list('GCP');
    for (const one of all.filter(({ late }) => late > 0)) this.set({ ...one, late: one.late - 1 }, []);
    return all.filter(({ late }) => late === 0).toReversed();
  }

  clear(): void {
    this.accounts.clear();
    this.owners.clear();
  }
}
