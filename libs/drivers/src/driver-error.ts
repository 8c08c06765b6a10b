import type { DriverErrorKind } from '#rules';

/** The only error a driver throws. `message` quotes the provider and contains no secret. */
export class DriverError extends Error {
  /**
   * @param kind determines the reaction, see `DRIVER_ERROR_KINDS`
   * @param retryAfterMs delay that the provider requested; null: none
   */
  constructor(
    readonly kind: DriverErrorKind,
    message: string,
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
    this.name = 'DriverError';
  }
}

/** Runs a driver call. @returns the DriverError it threw, null when it succeeded. @throws any other error */
export async function driverErrorOf(call: () => Promise<unknown>): Promise<DriverError | null> {
  try {
    await call();
    return null;
  } catch (error) {
    if (error instanceof DriverError) return error;
    throw error;
  }
}
