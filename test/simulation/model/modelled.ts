import type { Tx } from '#entities';

/** What stands in for a store: its methods without the transaction, each done at once. */
export type Modelled<Store> = {
  [Method in keyof Store]: Store[Method] extends (tx: Tx, ...given: infer Given) => Promise<infer Answer>
    ? (...given: Given) => Answer
    : never;
};
