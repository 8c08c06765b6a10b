import type { AddressPolicy } from '#rules';

/** What the deployment decides about sessions. */
export class SessionSettings {
  constructor(
    readonly defaultHours: number,
    readonly addressPolicy: AddressPolicy,
  ) {}
}
