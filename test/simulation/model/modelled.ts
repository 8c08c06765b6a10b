import type { Tx } from '#entities';

/** The model of a store: its methods without the transaction parameter, each synchronous. */
export type Modelled<Store> = {
  [Method in keyof Store]: Store[Method] extends (tx: Tx, ...given: infer Given) => Promise<infer Answer>
    ? (...given: Given) => Answer
    : never;
};
