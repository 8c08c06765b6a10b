/**
 * A form of the AWS Query protocol: dotted names are structures, numbers in them are list indices
 * (`IpPermissions.1.IpRanges.2.CidrIp`).
 */
export class QueryForm {
  private readonly children = new Map<string, QueryForm>();
  private value: string | undefined;

  /** Reads an `application/x-www-form-urlencoded` body. */
  static parse(body: string): QueryForm {
    const form = new QueryForm();
    for (const [name, value] of new URLSearchParams(body)) form.put(name.split('.'), value);
    return form;
  }

  /** A member's text; undefined when it is absent or empty. */
  text(name: string): string | undefined {
    return this.children.get(name)?.value || undefined;
  }

  /** The elements of a list of structures, in the order of their numbers. */
  list(name: string): QueryForm[] {
    const elements = [...(this.children.get(name)?.children ?? [])];
    return elements
      .filter(([index]) => /^\d+$/.test(index))
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, element]) => element);
  }

  /** The elements of a list of texts. */
  texts(name: string): string[] {
    return this.list(name).flatMap((element) => (element.value === undefined ? [] : [element.value]));
  }

  private put(names: readonly string[], value: string): void {
    const [name, ...rest] = names;
    if (name === undefined) {
      this.value = value;
      return;
    }
    const child = this.children.get(name) ?? new QueryForm();
    this.children.set(name, child);
    child.put(rest, value);
  }
}
