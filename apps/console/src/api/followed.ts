/** A value outside of components that they follow: `useSyncExternalStore(value.follow, value.get)`. */
export class Followed<Value> {
  private readonly listeners = new Set<() => void>();

  constructor(private value: Value) {}

  readonly get = (): Value => this.value;

  set(next: Value): void {
    this.value = next;
    for (const listener of this.listeners) listener();
  }

  readonly follow = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}
