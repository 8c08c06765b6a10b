import type { DriverErrorKind } from '#rules';

/** The only error a driver throws. `message` holds the provider's own words and no secret. */
export class DriverError extends Error {
  /**
   * @param kind decides what happens next, see `DRIVER_ERROR_KINDS`
   * @param retryAfterMs how long the provider asked us to wait, when it did
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

/** Asks a driver something. @returns what it had to say against it, null when nothing. @throws what is no DriverError */
export async function driverErrorOf(question: () => Promise<void>): Promise<DriverError | null> {
  try {
    await question();
    return null;
  } catch (error) {
    if (error instanceof DriverError) return error;
    throw error;
  }
}
