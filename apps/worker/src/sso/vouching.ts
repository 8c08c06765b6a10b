import type { Logger } from 'pino';
import type { Database } from '#entities';
import { chooseFairly, type SlotShare } from '#rules';
import type { DueSsoSignInStore, LeasedSsoSignIn, ReadySsoSignIn } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import type { VouchingCheck } from './vouching-check';

const INTERVAL_MS = 1000;
/** Issuers that are asked at once. */
const SLOTS = 24;
/** Longer than a check takes, of whose token a lost answer may take 30 seconds: after a crash another worker asks when it has run out. */
const LEASE_SECONDS = 60;

/**
 * Asks issuers whether they still vouch for those that are signed in. An organization gets half of the slots at most, and so do
 * all together whose issuer did not answer the last time: one that hangs does not keep others waiting.
 */
export class Vouching {
  readonly task = new RepeatedTask('ask issuers', INTERVAL_MS, () => this.fill(), this.log);
  private readonly running = new Map<string, { readonly share: SlotShare; readonly done: Promise<void> }>();

  constructor(
    private readonly database: Database,
    private readonly store: DueSsoSignInStore,
    private readonly check: VouchingCheck,
    private readonly log: Logger,
  ) {}

  /** Waits for the checks that run. Call it when the task has stopped. */
  async stop(): Promise<void> {
    await Promise.all([...this.running.values()].map(({ done }) => done));
  }

  /** Starts checks in the free slots. @returns 0: others may be due */
  private async fill(): Promise<number | null> {
    const { store, database, running } = this;
    await this.endOverdue();
    const ready = await store.ready(database.autocommit);
    const waiting = ready
      .filter(({ familyId }) => !running.has(familyId))
      .map((one) => ({ familyId: one.familyId, ...shareOf(one) }));
    const used = [...running.values()].map(({ share }) => share);
    const chosen = new Map(chooseFairly(waiting, used, SLOTS).map((one) => [one.familyId, one]));
    if (chosen.size === 0) return null;
    for (const signIn of await store.lease(database.autocommit, [...chosen.keys()], LEASE_SECONDS)) {
      const { familyId } = signIn;
      const done = this.ask(signIn).finally(() => running.delete(familyId));
      running.set(familyId, { share: chosen.get(familyId)!, done });
    }
    return 0;
  }

  private async endOverdue(): Promise<void> {
    for (const user of await this.store.overdueReSignIns(this.database.autocommit)) {
      try {
        await this.check.endOverdue(user);
      } catch (error) {
        const { organizationId, id: userId } = user;
        this.log.error({ err: error, userId, organizationId }, 'The access of a user could not be ended');
      }
    }
  }

  /** One that fails is asked about again when its lease has run out. */
  private async ask(signIn: LeasedSsoSignIn): Promise<void> {
    try {
      await this.check.run(signIn);
    } catch (error) {
      const { familyId: signInId, organizationId } = signIn;
      this.log.error({ err: error, signInId, organizationId }, 'A company sign-in could not be checked');
    }
  }
}

const shareOf = ({ organizationId, isFailing }: ReadySsoSignIn): SlotShare => ({
  provider: 'issuers',
  organizations: [organizationId],
  closing: false,
  deferrable: isFailing,
});
