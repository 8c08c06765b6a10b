/** A refusal with a cloud's own code and message. Each cloud answers it in its own form. */
export class CloudError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** further fields of the cloud's error body */
    readonly more: Readonly<Record<string, unknown>> = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'CloudError';
  }
}
