import { execFileSync } from 'node:child_process';
import { DriverRegistry } from '#drivers';
import type { Provider } from '#rules';
import { driverLoad, type DriverLoad } from '../builders/resources/driver-load';
import { group, organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, type Figure } from './figure';

const SAMPLES = 5;
const MAX_MEGABYTES = 300;

/** Load time and memory of each driver in its own process; memory of a worker without drivers, and with AWS only. */
export async function drivers(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({ worker: false });
  try {
    const figures: Figure[] = [];
    for (const provider of DriverRegistry.driven) {
      figures.push(...(await costOf(provider, drawbridge.cloud.url)));
    }
    const none = await workerMegabytes(drawbridge);
    await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    const aws = await workerMegabytes(drawbridge);
    return [
      ...figures,
      figure('Worker without clouds: memory', 'MB', none),
      figure('Worker that serves AWS only: memory', 'MB', aws, { atMost: MAX_MEGABYTES }),
    ];
  } finally {
    await drawbridge.stop();
  }
}

async function costOf(provider: Provider, url: string): Promise<Figure[]> {
  const loads: DriverLoad[] = [];
  for (let time = 0; time < SAMPLES; time += 1) loads.push(await driverLoad(provider, url));
  const samples = (read: (load: DriverLoad) => number): number[] => loads.map(read);
  return [
    figure(
      `${provider}: loaded`,
      'ms',
      samples(({ loadMs }) => loadMs),
    ),
    figure(
      `${provider}: loaded, and one target verified`,
      'ms',
      samples(({ readyMs }) => readyMs),
    ),
    figure(
      `${provider}: longest pause of other work meanwhile`,
      'ms',
      samples(({ stallMs }) => stallMs),
    ),
    figure(
      `${provider}: memory`,
      'MB',
      samples(({ before, after }) => after - before),
    ),
  ];
}

/** Resident memory of a worker that is ready. */
async function workerMegabytes(drawbridge: Drawbridge): Promise<number[]> {
  const samples: number[] = [];
  for (let time = 0; time < SAMPLES; time += 1) {
    const worker = await drawbridge.startWorker();
    samples.push(residentMegabytes(worker.pid));
    await worker.stop();
  }
  return samples;
}

const residentMegabytes = (pid: number): number =>
  Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024);
