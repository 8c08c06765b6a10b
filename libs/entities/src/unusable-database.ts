import { certificateProblem } from '#config';

const WRONG_ADDRESS: Readonly<Record<string, string>> = {
  '28P01': 'PostgreSQL refuses the user or the password of DATABASE_URL.',
  '28000': 'PostgreSQL refuses the user of DATABASE_URL.',
  '3D000': 'DATABASE_URL names a database that does not exist.',
};

const READ_ONLY =
  'PostgreSQL at DATABASE_URL accepts no writes: it is a standby, or default_transaction_read_only is on.';

/** A process cannot start on this database. The message names the variable, never its value. */
export class UnusableDatabase extends Error {
  /** @param isPermanent a retry cannot succeed: an operator has to act */
  constructor(
    message: string,
    readonly isPermanent = true,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'UnusableDatabase';
  }

  /** @param error of the first connection */
  static unreachable(error: unknown): UnusableDatabase {
    const encryption = encryptionProblem(error);
    if (encryption !== null) return new UnusableDatabase(encryption, true, error);
    const given: unknown = (error as { code?: unknown }).code;
    const code = typeof given === 'string' ? given : '';
    const message =
      WRONG_ADDRESS[code] ??
      (code === '25006' ? READ_ONLY : null) ??
      `PostgreSQL cannot be reached at DATABASE_URL${code && ` (${code})`}.`;
    return new UnusableDatabase(message, code in WRONG_ADDRESS, error);
  }

  static sharedSessions(): UnusableDatabase {
    return new UnusableDatabase(
      'DATABASE_URL leads through a pooler that shares connections between its clients: use session pooling (PgBouncer: pool_mode = session), or the address of PostgreSQL itself.',
    );
  }

  /** @param version of the server */
  static tooOld(version: string): UnusableDatabase {
    return new UnusableDatabase(
      `The server of DATABASE_URL is PostgreSQL ${version}: Drawbridge needs 15 or newer.`,
    );
  }

  static privilegedServiceRole(): UnusableDatabase {
    return new UnusableDatabase(
      'The role of DATABASE_SERVICE_URL owns tables or may create roles: name another one, which drawbridge-admin migrate then creates.',
    );
  }

  /** @param missing names of migrations that did not run */
  static behind(missing: readonly string[]): UnusableDatabase {
    const names = missing.join(', ');
    return new UnusableDatabase(
      `The database at DATABASE_URL is older than this release: run drawbridge-admin migrate (${names}).`,
    );
  }
}

/** Why the server and this process do not agree on TLS, in the server's words or the driver's; null: it is something else. */
function encryptionProblem(error: unknown): string | null {
  const { message } = error as Error;
  if (/\bno encryption$/.test(message))
    return 'PostgreSQL at DATABASE_URL demands TLS: add ?sslmode=verify-full to it.';
  if (message === 'The server does not support SSL connections')
    return 'PostgreSQL at DATABASE_URL offers no TLS, which its sslmode demands.';
  const problem = certificateProblem(error);
  return problem && `PostgreSQL at DATABASE_URL: ${problem}, or sslrootcert in DATABASE_URL.`;
}
