import { TIME } from './fields';

/** Documentation of what may be null in a response: a text, an id, a time. */
export const TEXT_OR_NULL = { type: String, nullable: true } as const;
export const ID_OR_NULL = { ...TEXT_OR_NULL, format: 'uuid' } as const;
export const TIME_OR_NULL = { ...TIME, nullable: true } as const;
