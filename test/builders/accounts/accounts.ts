import type { Schemas } from '#client';
import { randomUUID } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import type { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { organizationSets } from './people';

/** The response of POST /auth/login and similar requests. */
export type Login = Schemas['LoginAnswerDto'] & {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly deviceToken: string;
  readonly user: Schemas['SignedInUserDto'];
};

export type ApiFailure = Schemas['ErrorDto'];

/** Requests without sign-in. @param drawbridge called for each request: it starts after the file is loaded */
export const accountCalls = (drawbridge: () => Drawbridge) => {
  const post = <T = Login>(path: string, body: object): Promise<Answer<T>> =>
    drawbridge().api.post<T>(`/auth/${path}`, body);
  const refresh = ({ refreshToken }: Pick<Login, 'refreshToken'>): Promise<Answer<Login>> =>
    post('refresh', { refreshToken });
  return { post, refresh };
};

const STEP_MS = 30_000;

/** An admin account, with the requests of sign-in, passwords and MFA. */
export class AccountOwner {
  private lastStep = 0;
  private secret = '';
  recoveryCodes: readonly string[] = [];

  constructor(
    private readonly drawbridge: Drawbridge,
    readonly email: string,
    public password: string,
    public first: Login,
  ) {}

  get id(): string {
    return this.first.user.id;
  }

  get organizationId(): string {
    return this.first.user.organizationId;
  }

  /** The sign-in of the registration. */
  get client(): ApiClient {
    return this.as(this.first);
  }

  as = ({ accessToken }: Login): ApiClient => this.drawbridge.api.as({ token: accessToken });

  login<T = Login>(given: object = {}): Promise<Answer<T>> {
    const { email, password } = this;
    return this.drawbridge.api.post<T>('/auth/login', { email, password, ...given });
  }

  loggedIn = async (): Promise<Login> => this.drawbridge.api.expect(200, this.login());

  /** Sets a column of the account's organization. */
  organizationSets = (column: string, value: unknown): Promise<unknown> =>
    organizationSets(this.drawbridge, this.organizationId, column, value);

  /** Enables MFA. */
  async turnMfaOn(client = this.client): Promise<void> {
    const setup = await client.posted<{ secret: string }>('/mfa/setup');
    this.secret = setup.secret;
    this.lastStep = 0;
    const code = this.code();
    const confirmed = client.post<{ recoveryCodes: string[] }>('/mfa/setup/confirm', { code });
    this.recoveryCodes = (await client.expect(200, confirmed)).recoveryCodes;
  }

  /** A valid, unused TOTP code: two per half minute, of this step and the next. */
  code(): string {
    const now = Math.floor(Date.now() / STEP_MS);
    const step = Math.max(now, this.lastStep + 1);
    if (step > now + 1) throw new Error('There is no third code in half a minute: use a recovery code');
    this.lastStep = step;
    return totpOf(this.secret).generate({ timestamp: step * STEP_MS });
  }

  /** A code that is invalid at all times near now. */
  wrongCode(): string {
    const now = Date.now();
    const near = [-2, -1, 0, 1, 2].map((steps) =>
      totpOf(this.secret).generate({ timestamp: now + steps * STEP_MS }),
    );
    return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code))!;
  }

  /** Signs in to the point where the second factor is asked for. @returns the token to go on with */
  async challenge(): Promise<string> {
    const { mfaChallengeToken } = await this.loggedIn();
    if (mfaChallengeToken === null) throw new Error('The sign-in asks for no second factor');
    return mfaChallengeToken;
  }

  verify = (mfaChallengeToken: string | null, code: string): Promise<Answer<Login>> =>
    this.drawbridge.api.post<Login>('/auth/verify-mfa', { mfaChallengeToken, code });

  /** The audit records of the organization, oldest first. */
  audited(eventType: string): Promise<{ result: string; actorEmail: string; ipAddress: string }[]> {
    return this.drawbridge.query(
      `SELECT result, actor_email AS "actorEmail", ip_address AS "ipAddress" FROM audit_records
       WHERE organization_id = $1 AND event_type = $2 ORDER BY sequence`,
      [this.organizationId, eventType],
    );
  }
}

export const totpOf = (secret: string): TOTP =>
  new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: STEP_MS / 1000 });

/** Registers an organization. */
export async function accountOwner(
  drawbridge: Drawbridge,
  given: { email?: string; password?: string; organizationName?: string } = {},
): Promise<AccountOwner> {
  const account = {
    organizationName: 'Example',
    email: `${randomUUID()}@example.com`,
    password: `Aa1 ${randomUUID()}`,
    ...given,
  };
  const first = await drawbridge.api.created<Login>('/auth/register', account);
  return new AccountOwner(drawbridge, account.email, account.password, first);
}

/** The same with MFA. */
export async function ownerWithMfa(drawbridge: Drawbridge): Promise<AccountOwner> {
  const owner = await accountOwner(drawbridge);
  await owner.turnMfaOn();
  return owner;
}

/** The mails to an address, as the embedded service logs them, oldest first. */
const mailedTexts = ({ apiServer }: Drawbridge, email: string): string[] =>
  apiServer.output
    .split('\n')
    .filter((line) => line.includes('"context":"Mail"') && line.includes(email))
    .map((line) => (JSON.parse(line) as { text: string }).text);

/** The newest one. */
export const mailedText = (drawbridge: Drawbridge, email: string): string =>
  mailedTexts(drawbridge, email).at(-1)!;

/** The links mailed to an address, oldest first. */
export const mailedLinks = (drawbridge: Drawbridge, email: string): string[] =>
  mailedTexts(drawbridge, email).map((text) => /https?:\/\/\S+/.exec(text)![0]);

/** The token of the newest link, once there are that many. */
export function mailedToken(drawbridge: Drawbridge, email: string, mails = 1): Promise<string> {
  return until(`${mails} mails to ${email}`, async () => {
    const links = mailedLinks(drawbridge, email);
    return links.length >= mails && links.at(-1)!.split('/').at(-1)!;
  });
}
