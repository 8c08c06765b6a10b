import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Running time since the machine was started, in milliseconds, suspended or not: nobody sets this clock. */
export const runningMs = (): number => Math.round(uptime() * 1000);

/** What stays the same until the machine is started again. */
export const bootId = (): string => readWord('/proc/sys/kernel/random/boot_id') ?? 'unknown';

/** Seconds of the clock that goes on while the machine is off; null: it has none. */
export function batterySeconds(): number | null {
  const seconds = Number(readWord('/sys/class/rtc/rtc0/since_epoch') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

export const machineId = (): string => readWord('/etc/machine-id') ?? '';

function readWord(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // machines differ in what they have
    return null;
  }
}
