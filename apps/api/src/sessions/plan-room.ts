import { isCertain, type ResourceConfig, type Room, roomFor } from '#rules';
import type { PlacedRule, PlannedTarget } from '#tenant-store';
import { toRoom } from '../http/room.dto';
import type { PlannedRoomDto } from './dto/session-plan.dto';

/** The room of the targets of a plan, as the rules that it opens and closes take and leave it. */
export class PlanRoom {
  private readonly targets: ReadonlyMap<string, PlannedTarget>;
  private readonly coming = new Map<Room, Set<string>>();
  private readonly going = new Map<Room, Set<string>>();

  constructor(targets: readonly PlannedTarget[]) {
    this.targets = new Map(targets.map((target) => [target.targetId, target]));
  }

  /** A rule goes. */
  leave(rule: PlacedRule, config: ResourceConfig): void {
    if (!this.isPresent(rule)) return;
    for (const room of this.roomsOf(rule, config)) noted(this.going, room).add(rule.key);
  }

  /** A rule comes, unless it is there. @returns null: there is room for it, or no limit is known */
  take(rule: PlacedRule, config: ResourceConfig): 'FULL' | 'MAY_BE_FULL' | null {
    if (this.isPresent(rule)) return null;
    const rooms = this.roomsOf(rule, config);
    for (const room of rooms) noted(this.coming, room).add(rule.key);
    const full = rooms.filter((room) => this.after(room) > room.limit);
    return full.length === 0 ? null : full.some(isCertain) ? 'FULL' : 'MAY_BE_FULL';
  }

  /** The least room of a resource for its rules; null: no limit is known. */
  shownTo(rules: readonly PlacedRule[], config: ResourceConfig): PlannedRoomDto | null {
    const left = (room: Room): number => room.limit - this.after(room);
    const [least] = rules
      .flatMap((rule) => this.roomsOf(rule, config))
      .toSorted((one, other) => left(one) - left(other));
    return least ? Object.assign(toRoom(least), { after: this.after(least) }) : null;
  }

  private after(room: Room): number {
    return room.used + noted(this.coming, room).size - noted(this.going, room).size;
  }

  private roomsOf({ targetId, key }: PlacedRule, config: ResourceConfig): Room[] {
    return roomFor(this.targets.get(targetId)?.room ?? [], config, key);
  }

  private isPresent({ targetId, key }: PlacedRule): boolean {
    return this.targets.get(targetId)?.present.includes(key) ?? false;
  }
}

function noted(keys: Map<Room, Set<string>>, room: Room): Set<string> {
  const known = keys.get(room) ?? new Set();
  keys.set(room, known);
  return known;
}
