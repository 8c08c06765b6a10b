import type { OrganizationId } from '#rules';
import type { Evidence, ResourceMove } from './evidence';
import type { History } from './history';
import type { Span } from './spans';

/** At which target each resource pointed at which time. A target is named as in a rule's name: `AWS sg-1`. */
export class NamedTargets {
  private readonly names: ReadonlyMap<string, string>;

  constructor(
    evidence: Evidence,
    private readonly history: History,
  ) {
    this.names = new Map(
      evidence.targets.map(({ id, provider, identifier }) => [id, `${provider} ${identifier}`]),
    );
  }

  /** The target of the resource at this moment. */
  at(resourceId: string, moment: number): string | undefined {
    const move = this.movesOf(resourceId).findLast(({ at, seeded }) => seeded || at <= moment);
    return move && this.nameOf(move);
  }

  /** Whether the resource never pointed at the target; false for an unknown resource. */
  isNeverNamedBy(resourceId: string | null, target: string): boolean {
    const moves = this.movesOf(resourceId ?? '');
    return moves.length > 0 && moves.every((move) => this.nameOf(move) !== target);
  }

  /** Organizations that had a write-verified resource on the target during the whole span. */
  writers(target: string, span: Span): Set<OrganizationId> {
    const writers = new Set<OrganizationId>();
    for (const moves of this.history.resources.values()) {
      const inSpan = moves.filter((move, index) => {
        const next = moves[index + 1];
        return (move.seeded || move.at <= span.to) && (next?.at ?? Infinity) > span.from;
      });
      const isThroughout =
        inSpan.length > 0 &&
        (inSpan[0]!.seeded || inSpan[0]!.at <= span.from) &&
        inSpan.every((move) => move.now === 'live' && move.writeVerified && this.nameOf(move) === target);
      if (isThroughout) writers.add(inSpan[0]!.organizationId);
    }
    return writers;
  }

  private movesOf(resourceId: string): readonly ResourceMove[] {
    return this.history.resources.get(resourceId) ?? [];
  }

  private nameOf(move: ResourceMove): string | undefined {
    return this.names.get(move.targetId);
  }
}
