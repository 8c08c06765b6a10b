import {
  Column,
  CreateDateColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  type ColumnOptions,
} from 'typeorm';

/** UUID v4 made by the database. */
export const Id = (): PropertyDecorator => PrimaryGeneratedColumn('uuid');
export const Uuid = (options: ColumnOptions = {}): PropertyDecorator => Column({ type: 'uuid', ...options });
export const Text = (options: ColumnOptions = {}): PropertyDecorator => Column({ type: 'text', ...options });
export const Flag = (options: ColumnOptions = {}): PropertyDecorator =>
  Column({ type: 'boolean', ...options });
export const Count = (options: ColumnOptions = {}): PropertyDecorator =>
  Column({ type: 'integer', ...options });
export const Json = (options: ColumnOptions = {}): PropertyDecorator => Column({ type: 'jsonb', ...options });
export const Moment = (options: ColumnOptions = {}): PropertyDecorator =>
  Column({ type: 'timestamptz', ...options });
export const CreatedAt = (): PropertyDecorator =>
  CreateDateColumn({ type: 'timestamptz', default: () => 'now()' });
export const UpdatedAt = (): PropertyDecorator =>
  UpdateDateColumn({ type: 'timestamptz', default: () => 'now()' });
