export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** plain text */
  readonly text: string;
  /** where the receiver chooses to get no more of this kind */
  readonly unsubscribe?: string | undefined;
}

/** Sends mail. Also the injection token. */
export abstract class Mailer {
  /** where mail goes; `nowhere`: administrators pass links on */
  abstract readonly delivery: 'inbox' | 'log' | 'nowhere';

  /**
   * @param stopping gives up waiting for the mail server; it may have taken the mail
   * @throws Error when the mail could not be handed over; the caller decides whether its action fails
   */
  abstract send(mail: Mail, stopping?: AbortSignal): Promise<void>;
}
