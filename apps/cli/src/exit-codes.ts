/** What a script may rely on. `run` answers its command's own code instead, once that has run. */
export const EXIT = {
  ok: 0,
  /** wrong arguments or files, or a request that the server refuses as it is (400, 404, 409, 422) */
  usage: 2,
  /** some rules were refused */
  partial: 3,
  /** no rule was applied, or not in time */
  failed: 4,
  /** not signed in, or not allowed (401, 403) */
  denied: 5,
  /** no answer, or no useful one (429, 5xx) */
  unreachable: 6,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error of the user's world: shown as it is, with what to do about it. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly fix: string | null = null,
  ) {
    super(message);
  }
}

/** Of wrong arguments or files. */
export const usageFailure = (message: string, fix: string | null = null): CommandFailure =>
  new CommandFailure(EXIT.usage, message, fix);
