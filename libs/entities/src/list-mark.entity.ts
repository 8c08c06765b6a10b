import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Text } from './columns';

/** How many rows of an organization's list were older than `at` when it was set: see `TimedList`. */
@Entity('list_marks')
@Index('list_marks_kind_idx', ['organizationId', 'kind', 'at'])
@Index('list_marks_rows_before_idx', ['organizationId', 'list', 'rowsBefore'])
export class ListMarkEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  /** digest of the list's name and filter */
  @PrimaryColumn('uuid') list!: string;
  @PrimaryColumn('timestamptz') at!: Date;
  @Column('bigint') rowsBefore!: string;
  /** what the list consists of; empty: set by an earlier release */
  @Text({ default: '' }) kind!: string;
}
