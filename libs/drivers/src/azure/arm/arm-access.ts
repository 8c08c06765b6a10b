import { DriverError } from '../../driver-error';
import { missingActions, type Grant } from '../write-permission';
import type { ArmJson, Json } from './arm-json';

const PERMISSIONS_VERSION = '2022-04-01';
const LOCKS_VERSION = '2020-05-01';
const AUTHORIZATION = 'providers/Microsoft.Authorization';

/** What a credential may do with a resource, and what locks let it do. */
export class ArmAccessCheck {
  /** @param id of the resource @param noun what it is @param name its name */
  constructor(
    private readonly arm: ArmJson,
    private readonly id: string,
    private readonly noun: string,
    private readonly name: string,
  ) {}

  /** @throws DriverError `denied` naming the missing actions. Passes when the credential may not list its permissions. */
  async requireActions(required: readonly string[]): Promise<void> {
    const path = `${this.id}/${AUTHORIZATION}/permissions`;
    const roles = await nullIfDenied(this.arm.list(path, PERMISSIONS_VERSION, 'the list of permissions'));
    const missing = roles && missingActions(roles.map(grantOf), required);
    if (!missing || missing.length === 0) return;
    throw new DriverError('denied', `The credential lacks ${missing.join(', ')} on the ${this.noun}`);
  }

  /**
   * Passes when the credential may not read locks.
   * @returns the names of locks that keep what is in the resource from being deleted
   * @throws DriverError `invalid` naming a lock that keeps it from being changed
   */
  async deleteLocks(): Promise<string[]> {
    const path = `${this.id}/${AUTHORIZATION}/locks?$filter=atScope()`;
    const locks = (await nullIfDenied(this.arm.list(path, LOCKS_VERSION, 'the list of locks'))) ?? [];
    const namesOf = (level: string): string[] =>
      locks.filter((lock) => levelOf(lock) === level).map(({ name }) => String(name));
    for (const lock of namesOf('readonly'))
      throw new DriverError(
        'invalid',
        `The lock ${lock} (ReadOnly) blocks every change of the rules of ${this.name}: make it a CanNotDelete lock, or remove it`,
      );
    return namesOf('cannotdelete');
  }
}

/** @param locks those that keep a rule from being deleted */
export const lockWarnings = (name: string, locks: readonly string[]): string[] =>
  locks.map(
    (lock) =>
      `${name} has a delete lock, ${lock}: access is closed by neutralising the rule, which stays until the lock is gone`,
  );

const levelOf = ({ properties }: Json): string =>
  String((properties as { level?: unknown } | undefined)?.level).toLowerCase();

const grantOf = ({ actions, notActions }: Json): Grant => ({
  actions: stringsOf(actions),
  notActions: stringsOf(notActions),
});

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

async function nullIfDenied<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof DriverError && error.kind === 'denied') return null;
    throw error;
  }
}
