import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** How many rows of an organization's list are older than `at`: see `TimedList`. */
@Entity('list_marks')
@Index('list_marks_rows_before_idx', ['organizationId', 'list', 'rowsBefore'])
export class ListMarkEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  /** digest of the list's name and filter */
  @PrimaryColumn('uuid') list!: string;
  @PrimaryColumn('timestamptz') at!: Date;
  @Column('bigint') rowsBefore!: string;
}
