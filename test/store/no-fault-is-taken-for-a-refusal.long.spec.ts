import { array, assert, asyncProperty, boolean, nat, record } from 'fast-check';
import { VouchingCheck } from '../../apps/worker/src/sso/vouching-check';
import { IssuerClients } from '#sso';
import { TenantStores } from '#tenant-store';
import { faultyDatabase, type Fault } from '../builders/sessions/faulty-database';
import { LOCAL, MASTER_KEYS, vouchedPerson, type VouchedPerson } from '../builders/sso/vouched-person';
import { ownDatabase } from '../harness/database/own-database';
import { SignInIssuer } from '../harness/issuers/sign-in-issuer';

/** One step of a check fails, or that one and all that follow: the worker was killed. */
interface Plan {
  readonly step: number;
  readonly isKilled: boolean;
}

interface Access {
  readonly isLost: boolean;
  readonly isSignedIn: boolean;
}

interface Outcome extends Access {
  /** of the first check, that could have failed */
  readonly steps: number;
  readonly isRefused: boolean;
}

/** Checks without a fault after which a sign-in is either vouched for or over. */
const RECOVERY = 3;
const MAX_STEPS = 60;
/** Of an issuer. */
const ENDPOINTS = ['/.well-known/openid-configuration', '/token', '/keys', '/userinfo'];

describe('A fault of ours, at any step between the request to an issuer and the commit,', () => {
  const database = ownDatabase(4);
  const stores = new TenantStores();
  let issuer: SignInIssuer;

  beforeAll(async () => {
    issuer = await SignInIssuer.start();
  });
  afterAll(() => issuer.stop());

  /** Checks a sign-in once. @returns how many steps could have failed */
  async function check({ familyId }: VouchedPerson, plan: Plan | null): Promise<number> {
    const { autocommit } = database;
    await autocommit.query('UPDATE sso_sign_ins SET check_due_at = now() WHERE family_id = $1', [familyId]);
    const [signIn] = await stores.dueSsoSignIns.lease(autocommit, [familyId], 60);
    if (!signIn) return 0;
    let steps = 0;
    const fault: Fault = () => {
      const step = steps++;
      return plan !== null && (plan.isKilled ? step >= plan.step : step === plan.step);
    };
    issuer.cut = (_, when) => fault(when);
    const wake = (): void => undefined;
    const clients = new IssuerClients(LOCAL);
    const options = { wake, keepPauses: [0, 0] };
    const worker = new VouchingCheck(faultyDatabase(database, fault), stores, clients, MASTER_KEYS, options);
    await worker.run(signIn).catch(() => undefined);
    issuer.cut = null;
    return steps;
  }

  const accessOf = async ({ userId, sessionId, familyId }: VouchedPerson): Promise<Access> => {
    const [row] = await database.autocommit.query<Access[]>(
      `SELECT u.sso_refused_at IS NOT NULL OR u.sso_session_over_at IS NOT NULL OR s.status <> 'ACTIVE' AS "isLost",
         EXISTS (SELECT FROM sso_sign_ins WHERE family_id = $3) AS "isSignedIn"
       FROM users u, sessions s WHERE u.id = $1 AND s.id = $2`,
      [userId, sessionId, familyId],
    );
    return row!;
  };

  /** Checks fail as planned, and then none does; a sign-in that is left then is refused. */
  async function outcomeOf(plans: readonly Plan[]): Promise<Outcome> {
    const ada = await vouchedPerson(database, issuer);
    const steps: number[] = [];
    const lost: boolean[] = [];
    for (const plan of [...plans, ...Array<null>(RECOVERY).fill(null)]) {
      steps.push(await check(ada, plan));
      lost.push((await accessOf(ada)).isLost);
    }
    const { isSignedIn } = await accessOf(ada);
    ada.atIssuer.disabled = true;
    await check(ada, null);
    const isRefused = (await accessOf(ada)).isLost;
    return { steps: steps[0]!, isLost: lost.includes(true), isSignedIn, isRefused };
  }

  it.each([false, true])('alone (the worker is killed by it: %s), ends no access', async (isKilled) => {
    const outcomes: Outcome[] = [];
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const outcome = await outcomeOf([{ step, isKilled }]);
      if (outcome.steps <= step) break;
      outcomes.push(outcome);
    }
    expect(outcomes.length).toBeGreaterThan(20);
    expect(outcomes.filter(({ isLost }) => isLost)).toEqual([]);
    // whoever is left signed in is refused as ever: one answer later nothing is in doubt
    expect(outcomes.filter(({ isSignedIn, isRefused }) => isSignedIn !== isRefused)).toEqual([]);
    // one is the answer with the new refresh token; a worker that is killed before it has kept that loses it, too
    expect(outcomes.filter(({ isSignedIn }) => !isSignedIn)).toHaveLength(isKilled ? 2 : 1);
  });

  it('and an issuer that is down, or takes a request and never answers it, ends no access and no sign-in', async () => {
    const lacks = ENDPOINTS.flatMap((path) => [
      { lackingAt: path, isDown: true },
      { lackingAt: path, isSilent: true },
    ]);
    const outcomes = await Promise.all(
      lacks.map(async (lack) => {
        const own = await SignInIssuer.start();
        const ada = await vouchedPerson(database, own);
        Object.assign(own, lack);
        await check(ada, null);
        await own.stop();
        return { ...lack, isAsked: own.requests.includes(lack.lackingAt), ...(await accessOf(ada)) };
      }),
    );
    expect(outcomes).toEqual(
      lacks.map((lack) => ({ ...lack, isAsked: true, isLost: false, isSignedIn: true })),
    );
  });

  it('again and again, ends no access', async () => {
    const plan = record({ step: nat(28), isKilled: boolean() });
    await assert(
      asyncProperty(array(plan, { minLength: 2, maxLength: 4 }), async (plans) => {
        expect(await outcomeOf(plans)).toMatchObject({ isLost: false });
      }),
      { numRuns: 40 },
    );
  });
});
