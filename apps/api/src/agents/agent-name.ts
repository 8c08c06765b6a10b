import type { PipeTransform } from '@nestjs/common';
import { DriverRegistry } from '#drivers';
import type { OrganizationId } from '#rules';
import { invalidField } from '../errors/api-error';

const { identifier, nameTarget } = DriverRegistry.facts('AGENT').resourceTypes['HOST_FIREWALL']!;

/** The same pattern as the identifier of HOST_FIREWALL resources. */
export const AGENT_NAME = identifier.pattern;
export const AGENT_NAME_EXAMPLE = identifier.example;
export const AGENT_NAME_MESSAGE = `must look like ${AGENT_NAME_EXAMPLE}`;

/** The host's key, unique among all organizations. */
export const hostKey = (name: string, organization: OrganizationId): string =>
  nameTarget({ identifier: name, config: {}, hints: {}, organization }).key;

/** Validates an agent's name in a path. */
export const AgentNamePipe: PipeTransform<string, string> = {
  transform: (name) => {
    if (AGENT_NAME.test(name)) return name;
    throw invalidField('name', AGENT_NAME_MESSAGE);
  },
};
