/** The columns of a table that are read and written whole, by how they are passed. */
export interface ColumnNames {
  readonly text?: readonly string[];
  readonly uuid?: readonly string[];
  readonly int?: readonly string[];
  readonly boolean?: readonly string[];
  readonly time?: readonly string[];
}

const nameOf = (column: string): string =>
  column.replaceAll(/_(?<letter>[a-z])/g, (_, letter: string) => letter.toUpperCase());

/** SQL: ms since 1970 with microseconds, which a float holds exactly. */
export const ms = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;

/** SQL: the reverse of `ms`. */
export const moment = (time: string): string =>
  `timestamptz 'epoch' + round(${time} * 1000) * interval '1 microsecond'`;

/** SQL fragments for rows that are read and written whole; times are ms since 1970. */
export class Columns {
  private readonly all: readonly (readonly [column: string, type: string])[];

  constructor(names: ColumnNames) {
    this.all = Object.entries(names).flatMap(([type, columns]: [string, readonly string[]]) =>
      columns.map((column) => [column, type] as const),
    );
  }

  /** For `SELECT`. */
  of(table: string): string {
    return this.all
      .map(([column, type]) => {
        const value = `${table}.${column}`;
        return `${type === 'time' ? ms(value) : value} AS "${nameOf(column)}"`;
      })
      .join(', ');
  }

  /** For `jsonb_to_recordset(…) AS given(…)`. */
  get given(): string {
    return this.all
      .map(([column, type]) => `"${nameOf(column)}" ${type === 'time' ? 'float8' : type}`)
      .join(', ');
  }

  /** For `SET`. */
  get set(): string {
    return this.all.map(([column, type]) => `${column} = ${this.value(column, type)}`).join(', ');
  }

  /** For `INSERT`: the columns and their values. */
  get names(): string {
    return this.all.map(([column]) => column).join(', ');
  }

  get values(): string {
    return this.all.map(([column, type]) => `${this.value(column, type)} AS ${column}`).join(', ');
  }

  private value(column: string, type: string): string {
    const given = `given."${nameOf(column)}"`;
    return type === 'time' ? moment(given) : given;
  }
}
