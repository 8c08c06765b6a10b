import type { Database, Transactions, Tx } from '#entities';

/** Decides whether a step fails. A step that fails `after` has had its effect, and its answer is lost. */
export type Fault = (when: 'before' | 'after') => boolean;

const LOST = 'Connection terminated unexpectedly';

const fails = (fault: Fault, when: 'before' | 'after'): void => {
  if (fault(when)) throw new Error(LOST);
};

/** A database whose statements and commits fail when `fault` says so. */
export function faultyDatabase(database: Database, fault: Fault): Transactions {
  const faulty = (tx: Tx): Tx => {
    const query = async (text: string, values: unknown[]): Promise<unknown> => {
      fails(fault, 'before');
      const answer: unknown = await tx.query(text, values);
      fails(fault, 'after');
      return answer;
    };
    return Object.assign(Object.create(tx) as Tx, { query });
  };
  const within =
    (run: Transactions['transaction']): Transactions['transaction'] =>
    async (work) => {
      const done = await run(async (tx) => {
        const worked = await work(faulty(tx));
        // of the commit
        fails(fault, 'before');
        return worked;
      });
      fails(fault, 'after');
      return done;
    };
  return {
    autocommit: faulty(database.autocommit),
    transaction: within((work) => database.transaction(work)),
    revocation: within((work) => database.revocation(work)),
    ping: () => database.ping(),
  };
}
