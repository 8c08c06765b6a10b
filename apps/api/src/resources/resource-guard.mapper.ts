import { containsPort, intersection, withoutCovered, type Traffic } from '#rules';
import type { ResourceGuardDto } from './dto/resource-guard.dto';
import type { ResourceGuard } from './host-guard.service';

const NOTHING = { guarded: [], notGuarded: [], waiting: [], leftAlone: [], refused: [], wouldCut: [] };

/** Only what concerns the resource's own traffic. */
export function toResourceGuard({ agent, named, reported }: ResourceGuard): ResourceGuardDto {
  if (!reported) return { agent, reportedAt: null, ...NOTHING };
  const { guard, reportedAt } = reported;
  const own = (traffic: readonly Traffic[]): Traffic[] => intersection(traffic, named);
  return {
    agent,
    reportedAt: reportedAt,
    guarded: own(guard.guarded),
    notGuarded: withoutCovered(named, guard.guarded),
    waiting: own(guard.waiting),
    leftAlone: own(guard.leftAlone),
    refused: guard.refused.flatMap(({ reason, ...traffic }) =>
      own([traffic]).map((refused) => ({ ...refused, reason })),
    ),
    wouldCut: guard.connections.filter(({ protocol, port }) => containsPort(named, protocol, port)),
  };
}
