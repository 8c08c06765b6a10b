import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { neededInCi } from '../needed-in-ci';
import { until } from '../until';

const hasTerminals = neededInCi('tmux', spawnSync('tmux', ['-V']).status === 0);

/** `describe` for suites that need a terminal. */
export function describeInTerminal(title: string, tests: () => void): void {
  if (!hasTerminals) process.stderr.write(`\n*** tmux is not installed: ${title}: NOT TESTED ***\n\n`);
  (hasTerminals ? describe : describe.skip)(title, tests);
}

/** A real terminal, with a program in its foreground. */
export class Terminal {
  private readonly socket = `drawbridge-${randomUUID()}`;

  /** @param command for a shell; the terminal stays when it has ended */
  constructor(command: string, env: Readonly<Record<string, string>>, columns = 200) {
    const shown = 'echo "ended with $?"; sleep 600';
    const args = ['-f', '/dev/null', 'new-session', '-d', '-x', String(columns), '-y', '50'];
    execFileSync('tmux', ['-L', this.socket, ...args, `${command}; ${shown}`], {
      env: { TERM: 'screen', ...env },
    });
  }

  get screen(): string {
    return execFileSync('tmux', ['-L', this.socket, 'capture-pane', '-p', '-S', '-'], { encoding: 'utf8' });
  }

  /** @param key as tmux names it, such as `C-c` */
  press(key: string): void {
    execFileSync('tmux', ['-L', this.socket, 'send-keys', key]);
  }

  type(text: string): void {
    execFileSync('tmux', ['-L', this.socket, 'send-keys', '-l', '--', text]);
    this.press('Enter');
  }

  async shows(text: string, times = 1): Promise<string> {
    const shown = await until(`the terminal shows ${text}`, () => {
      const { screen } = this;
      return Promise.resolve(screen.split(text).length > times && screen);
    });
    return shown;
  }

  close(): void {
    spawnSync('tmux', ['-L', this.socket, 'kill-server']);
  }
}
