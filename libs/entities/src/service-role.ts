import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { EntityManager as Tx } from 'typeorm';
import { UnusableDatabase } from './unusable-database';

/** The role that API and workers connect with. */
export interface ServiceRole {
  readonly name: string;
  readonly password: string;
}

/** Read and insert only: the audit trail and the ledger. */
const APPEND_ONLY = ['audit_records', 'audit_seals', 'audit_checkpoints', 'rule_events'];
/** Written only by the owner. */
const READ_ONLY = ['migrations', 'retention_floor', 'audit_exports'];
const QUEUE_SCHEMA = 'bullmq';

const TABLES = `SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relname AS table
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('public', '${QUEUE_SCHEMA}') AND c.relkind IN ('r', 'p')
    AND NOT c.relispartition AND c.relname !~ '^(rule_events|audit_records)_'`;

/**
 * Creates the role if missing and grants it what API and workers need: read and write rows of the product's tables, but
 * neither change the audit trail or the ledger nor alter tables. All other grants are revoked.
 * @param tx of the tables' owner, in a transaction
 * @throws UnusableDatabase when the role is the owner, or has rights that cannot be revoked
 */
export async function grantServiceRole(tx: Tx, role: ServiceRole): Promise<void> {
  const [{ quoted }] = await tx.query<[{ quoted: string }]>('SELECT quote_ident($1) AS quoted', [role.name]);
  await createRole(tx, role, quoted);
  const schemas = await queueSchemas(tx);
  // before version 15 PostgreSQL let every role create tables in this schema
  await tx.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  for (const schema of schemas) {
    await tx.query(`REVOKE ALL ON SCHEMA ${schema} FROM ${quoted}`);
    await tx.query(`REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${quoted}`);
    await tx.query(`GRANT USAGE ON SCHEMA ${schema} TO ${quoted}`);
    await tx.query(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${quoted}`);
    await tx.query(`GRANT EXECUTE ON ALL ROUTINES IN SCHEMA ${schema} TO ${quoted}`);
  }
  for (const { name, table } of await tx.query<{ name: string; table: string }[]>(TABLES)) {
    await tx.query(`GRANT ${rightsOn(table)} ON ${name} TO ${quoted}`);
  }
}

function rightsOn(table: string): string {
  if (READ_ONLY.includes(table)) return 'SELECT';
  return APPEND_ONLY.includes(table) ? 'SELECT, INSERT' : 'SELECT, INSERT, UPDATE, DELETE';
}

const queueSchemas = async (tx: Tx): Promise<string[]> => {
  const found = await tx.query<{ name: string }[]>(
    `SELECT nspname AS name FROM pg_namespace WHERE nspname IN ('public', '${QUEUE_SCHEMA}')`,
  );
  return found.map(({ name }) => name);
};

async function createRole(tx: Tx, role: ServiceRole, quoted: string): Promise<void> {
  const [found] = await tx.query<{ isTooStrong: boolean; mayAlter: boolean }[]>(
    `SELECT rolsuper OR rolcreaterole OR rolbypassrls OR pg_has_role(oid, current_user, 'MEMBER') AS "isTooStrong",
       (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) AS "mayAlter"
     FROM pg_roles WHERE rolname = $1`,
    [role.name],
  );
  if (found?.isTooStrong) throw UnusableDatabase.privilegedServiceRole();
  if (found && !found.mayAlter) return;
  const verb = found ? 'ALTER' : 'CREATE';
  await tx.query(`${verb} ROLE ${quoted} LOGIN PASSWORD '${scramVerifier(role.password)}'`);
}

const ITERATIONS = 4096;

/** The form in which PostgreSQL stores a password: the statement may be logged, the password must not. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const server = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}
