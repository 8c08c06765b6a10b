import { DriverRegistry } from '#drivers';
import type { Provider } from '#rules';
import { driverLoad, type DriverLoad } from '../builders/resources/driver-load';
import { Drawbridge } from '../harness/product/drawbridge';
import { figure, type Figure } from './figure';

const SAMPLES = 5;

/** Load time and memory of each driver in its own process. */
export async function drivers(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start({ worker: false });
  try {
    const figures: Figure[] = [];
    for (const provider of DriverRegistry.driven)
      figures.push(...(await costOf(provider, drawbridge.cloud.url)));
    return figures;
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
