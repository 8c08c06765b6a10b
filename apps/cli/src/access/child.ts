import { spawn, type ChildProcess } from 'node:child_process';
import { CommandFailure, EXIT } from '../exit-codes';
import { systemCode } from '../profiles/system-error';
import { type HandledSignal, isFromTerminal, signalExitCode, type Signals } from '../terminal/signals';

/** How long a child may take to end after its starter has gone. */
const GRACE_MS = 10_000;

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Runs a command in this terminal until it ends. Each signal to this process reaches it once.
 * @returns its exit code, 128+n after signal n; as a shell, 127 for a program that is not there and 126 for one that cannot run
 */
export async function runChild(command: Command, signals: Signals): Promise<number> {
  const child = spawn(command.program, command.args, { stdio: 'inherit', env: command.environment });
  const stopForwarding = signals.onSignal((signal) => forward(signal, child, signals.isParentGone));
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => {
        // an error of a signal, of a child that runs
        if (child.pid === undefined) reject(startFailure(command.program, error));
      });
      child.once('exit', (code, signal) => resolve(code ?? signalExitCode(signal!)));
    });
  } finally {
    stopForwarding();
  }
}

function forward(signal: HandledSignal, child: ChildProcess, isParentGone: boolean): void {
  if (isFromTerminal(signal)) return;
  child.kill(signal);
  if (isParentGone) {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  }
}

/** A program that cannot be started; its code is the shell's. */
export class ChildNotStarted extends CommandFailure {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(EXIT.usage, message);
  }
}

function startFailure(program: string, error: Error): ChildNotStarted {
  const isMissing = systemCode(error) === 'ENOENT';
  return new ChildNotStarted(
    isMissing ? NOT_FOUND : NOT_EXECUTABLE,
    isMissing ? `There is no program "${program}"` : `"${program}" cannot be run: ${systemCode(error)}`,
  );
}
