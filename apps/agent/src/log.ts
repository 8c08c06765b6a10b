/** What the agent says: a line for each thing that has changed, not for each time that it was looked at. */
export class Log {
  private readonly troubles = new Map<string, string>();

  constructor(private readonly write: (line: string) => void) {}

  say(words: string): void {
    this.write(`${words}\n`);
  }

  /**
   * @param kind what makes it news; the words themselves unless given
   * @returns whether it is news
   */
  trouble(topic: string, words: string, kind = words): boolean {
    if (this.troubles.get(topic) === kind) return false;
    this.troubles.set(topic, kind);
    this.say(words);
    return true;
  }

  /** Said once, after trouble. */
  settled(topic: string, words: string): void {
    if (this.troubles.delete(topic)) this.say(words);
  }
}
