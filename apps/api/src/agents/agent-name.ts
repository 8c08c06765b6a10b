import { DriverRegistry } from '#drivers';
import type { OrganizationId } from '#rules';

const { identifier, place } = DriverRegistry.facts('AGENT').resourceTypes['HOST_FIREWALL']!;

/** What resources may call a host, its agent may call itself. */
export const AGENT_NAME = identifier.pattern;
export const AGENT_NAME_WORDS = `must look like ${identifier.example}`;

/** The host's one name among all organizations. */
export const hostKey = (name: string, organization: OrganizationId): string =>
  place({ identifier: name, config: {}, hints: {}, organization }).key;
