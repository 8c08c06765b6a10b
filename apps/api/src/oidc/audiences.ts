import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { asOrganizationId, type OrganizationId } from '#rules';
import { PublicAddress } from '../http/public-address';

/** The audience of each organization's ID tokens: a token for one is worthless at any other. */
@Injectable()
export class Audiences {
  constructor(private readonly address: PublicAddress) {}

  of(organization: OrganizationId): string {
    return this.address.of(`/o/${organization}`);
  }

  /** @param aud of a token; nothing is verified. @returns null when it is no organization's audience */
  organizationOf(aud: unknown): OrganizationId | null {
    const audience: unknown = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
    const prefix = this.address.of('/o/');
    if (typeof audience !== 'string' || !audience.startsWith(prefix)) return null;
    const id = audience.slice(prefix.length);
    return isUUID(id) && id === id.toLowerCase() ? asOrganizationId(id) : null;
  }
}
