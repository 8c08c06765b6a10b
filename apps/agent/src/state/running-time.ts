import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Running time since the machine was started, in milliseconds, including suspension. It is monotonic. */
export const runningMs = (): number => Math.round(uptime() * 1000);

/** Changes with each start of the machine. */
export const bootId = (): string => readText('/proc/sys/kernel/random/boot_id') ?? 'unknown';

/** Seconds of the real-time clock, which runs on while the machine is off; null: it has none. */
export function batterySeconds(): number | null {
  const seconds = Number(readText('/sys/class/rtc/rtc0/since_epoch') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

export const machineId = (): string => readText('/etc/machine-id') ?? '';

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // not every machine has the file
    return null;
  }
}
