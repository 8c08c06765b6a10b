import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

const HANDLED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
export type HandledSignal = (typeof HANDLED)[number];

/** Keys of a terminal: it sends these to every process in its foreground. */
const FROM_KEYS: ReadonlySet<HandledSignal> = new Set(['SIGINT', 'SIGQUIT']);
const PARENT_CHECK_MS = 500;

const FIRST_SIGNAL_CODE = 128;

/** What a shell answers for a process that a signal has ended. */
export const signalExitCode = (signal: NodeJS.Signals): number =>
  FIRST_SIGNAL_CODE + constants.signals[signal];

/** Thrown for what a signal has given up. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(readonly signal: HandledSignal) {
    super(`Ended by ${signal}`);
  }
}

/** Signals to this process, from the moment this is made: none of them ends it before its access is stopped. */
export class Signals {
  private readonly controller = new AbortController();
  private readonly receivers = new Set<(signal: HandledSignal) => void>();
  private readonly handlers = HANDLED.map((signal) => [signal, () => this.receive(signal)] as const);
  private readonly parent = process.ppid;
  private parentTimer: NodeJS.Timeout | undefined;
  /** whether the process that started this one has ended; see `watchParent` */
  isParentGone = false;

  constructor() {
    for (const [signal, handler] of this.handlers) process.on(signal, handler);
  }

  /** Aborted by the first signal, with an Interrupted as its reason. */
  get aborted(): AbortSignal {
    return this.controller.signal;
  }

  /** @returns stops the calls */
  onSignal(receiver: (signal: HandledSignal) => void): () => void {
    this.receivers.add(receiver);
    return () => this.receivers.delete(receiver);
  }

  /** The end of the process that started this one counts as a SIGHUP: no one else could end it. */
  watchParent(): void {
    // the first process of a container cannot end before the others
    if (this.parent <= 1) return;
    this.parentTimer = setInterval(() => {
      if (process.ppid === this.parent) return;
      clearInterval(this.parentTimer);
      this.isParentGone = true;
      this.receive('SIGHUP');
    }, PARENT_CHECK_MS).unref();
  }

  /** From now on signals have their usual effect. */
  close(): void {
    clearInterval(this.parentTimer);
    for (const [signal, handler] of this.handlers) process.removeListener(signal, handler);
  }

  private receive(signal: HandledSignal): void {
    this.controller.abort(new Interrupted(signal));
    for (const receiver of this.receivers) receiver(signal);
  }
}

/**
 * Whether the terminal has sent this signal to the child as well, so that forwarding it would be the second time: Ctrl-C
 * twice makes many programs drop their work.
 */
export const isFromTerminal = (signal: HandledSignal): boolean =>
  FROM_KEYS.has(signal) && [0, 1, 2].some(isTerminal) && isInForeground();

const isTerminal = (descriptor: number): boolean =>
  [process.stdin, process.stdout, process.stderr][descriptor]?.isTTY === true;

/** Where the system does not say, a process with a terminal counts as in its foreground. */
function isInForeground(): boolean {
  try {
    // after the program's name, which may contain anything: state, parent, group, session, terminal, foreground group
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
    return fields[2] === fields[5];
  } catch {
    return true;
  }
}
