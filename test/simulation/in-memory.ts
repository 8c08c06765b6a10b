import type { Tx } from '#entities';

/** A store in memory: its methods without the transaction parameter, each synchronous. */
export type InMemory<Store> = {
  [Method in keyof Store]: Store[Method] extends (tx: Tx, ...given: infer Given) => Promise<infer Answer>
    ? (...given: Given) => Answer
    : never;
};
