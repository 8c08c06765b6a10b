import type { Abstract, FactoryProvider } from '@nestjs/common';

/** A Nest factory whose parameters are checked against the tokens it injects. */
export const factory = <T, Given extends readonly unknown[]>(
  provide: Abstract<T>,
  inject: { readonly [Index in keyof Given]: Abstract<Given[Index]> },
  useFactory: (...given: Given) => T,
): FactoryProvider<T> => ({
  provide,
  inject: [...inject] as NonNullable<FactoryProvider['inject']>,
  useFactory: (...given: unknown[]) => useFactory(...(given as unknown as Given)),
});
