export const messageOf = (error: unknown): string =>
  (error instanceof Error && error.message) || String(error);

/** The agent's log: one line for each change of a topic, not for each check of it. */
export class Log {
  private readonly failures = new Map<string, string>();

  constructor(private readonly write: (line: string) => void) {}

  info(message: string): void {
    this.write(`${message}\n`);
  }

  /**
   * Logs a failure unless the topic's last one was of the same kind.
   * @param kind identifies the failure; the message itself unless given
   * @returns whether it was logged
   */
  failure(topic: string, message: string, kind = message): boolean {
    if (this.failures.get(topic) === kind) return false;
    this.failures.set(topic, kind);
    this.info(message);
    return true;
  }

  /** Logs once that a topic works again after a failure. */
  recovered(topic: string, message: string): void {
    if (this.failures.delete(topic)) this.info(message);
  }
}
