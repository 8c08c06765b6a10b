import { setTimeout as pause } from 'node:timers/promises';
import { organization } from '../builders/accounts/organization';
import { verifiedService } from '../builders/resources/services';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';

const EXTENSIONS = 10;
/** Longer than the account's budget needs for one more write. */
const PAUSE_MS = 3000;
const PROJECT = `${'0'.repeat(22)}a1`;

/** How soon an extended session's entry has its later end where the provider ends entries by itself. */
export async function nativeEnds(): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start();
  try {
    const org = await organization(drawbridge, []);
    const resourceId = await verifiedService(org, 'PROJECT', PROJECT);
    const { id } = await org.started({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.7',
      durationHours: 1,
    });
    await org.reaches(id, 'ACTIVE');
    const end = async (): Promise<number> => {
      const objects = (await drawbridge.cloud.objects('ATLAS')) as Record<string, { endsAt: number }[]>;
      return objects[PROJECT]![0]!.endsAt;
    };
    const times: number[] = [];
    for (let extension = 0; extension < EXTENSIONS; extension += 1) {
      const before = await end();
      const began = performance.now();
      await org.admin.posted(`/sessions/${id}/extend`, { additionalHours: 1 });
      await until('the entry ends later', async () => (await end()) > before);
      times.push(performance.now() - began);
      await pause(PAUSE_MS);
    }
    return [
      figure('POST extend to the later end of the entry, the latest', 'ms', times, { atMost: 5000 }, 1),
    ];
  } finally {
    await drawbridge.stop();
  }
}
