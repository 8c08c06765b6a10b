import { MAX_RESOURCE_IDS, MAX_RESOURCE_NAME } from '#rules';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsString, IsUUID, Length } from 'class-validator';
import { AtMost, flag, id, line, NullAsAbsent, string, wholeNumber, type Kind } from '../../http/fields';
import { asId, HasNoHiddenCharacters } from '../../http/text-fields';

const address = (version: 4 | 6): Kind => ({
  checks: [IsString({ message: `must be an IPv${version} address` })],
  doc: { type: String, description: `Default: the caller's, when it calls over IPv${version}` },
});

const RESOURCE_IDS: Kind = {
  checks: [
    IsArray({ message: 'must be an array of resource ids' }),
    IsUUID(undefined, { each: true, message: 'must hold UUIDs only' }),
    ArrayNotEmpty({ message: 'must name at least one resource, or be left out' }),
    ArrayMaxSize(MAX_RESOURCE_IDS, { message: `must hold at most ${MAX_RESOURCE_IDS} ids` }),
    asId(),
  ],
  doc: { type: [String], format: 'uuid', maxItems: MAX_RESOURCE_IDS },
};

export const REASON = line(500);
const TICKET = line(100);

const NAME_LENGTH = `must hold names of 1 to ${MAX_RESOURCE_NAME} characters`;

const RESOURCE_NAMES: Kind = {
  checks: [
    IsArray({ message: 'must be an array of names' }),
    Length(1, MAX_RESOURCE_NAME, { each: true, message: NAME_LENGTH }),
    ArrayNotEmpty({ message: 'must name at least one resource, or be left out' }),
    ArrayMaxSize(MAX_RESOURCE_IDS, { message: `must hold at most ${MAX_RESOURCE_IDS} names` }),
  ],
  doc: { type: [String], maxItems: MAX_RESOURCE_IDS },
};

/** What is to be opened, for whose address, and for how long. */
export class WantedAccessDto {
  @NullAsAbsent(wholeNumber(1, Infinity, 'of hours'), {
    example: 2,
    description: 'Default: set by the deployment',
  })
  durationHours?: number;

  @NullAsAbsent(address(4), { example: '203.0.113.10' })
  ipv4Address?: string;

  @NullAsAbsent(address(6), { example: '2001:db8::10' })
  ipv6Address?: string;

  @NullAsAbsent(RESOURCE_IDS, { description: "Default: all of the user's resources" })
  resourceIds?: string[];

  @NullAsAbsent(RESOURCE_NAMES, {
    example: ['demo-database'],
    description:
      'Resources by their names, together with those of resourceIds. The exact name comes first, then one in other ' +
      'letters’ case, then the only id that begins with the text',
  })
  resourceNames?: string[];

  @NullAsAbsent(TICKET, { example: 'INC-12', description: 'What it is recorded under elsewhere' })
  ticket?: string;
}

export class StartSessionDto extends WantedAccessDto {
  @NullAsAbsent(string(HasNoHiddenCharacters(), AtMost(64)), {
    maxLength: 64,
    example: 'build-4711',
    description: 'Distinguishes parallel jobs behind one address: each holder has its own session',
  })
  holder?: string;

  @NullAsAbsent(wholeNumber(60, 3600, 'of seconds'), {
    example: 300,
    description: 'The session ends this long after its last renewal, and never later than expiresAt',
  })
  leaseSeconds?: number;

  @NullAsAbsent(id(), {
    description:
      'An own live session that this one takes the place of: it is stopped in the same transaction, and its startedAt and ' +
      'expiresAt are taken over, so durationHours must be left out',
  })
  replaces?: string;

  @NullAsAbsent(REASON, {
    example: 'INC-12: the disk is full',
    description: 'Needed where a role asks for one',
  })
  reason?: string;

  @NullAsAbsent(id(), {
    description:
      'An own access request that is approved, which this session uses. What is left out is as it was asked for. Left out, an ' +
      'approved request for the same reason and ticket that covers the session is used where approval is needed',
  })
  accessRequestId?: string;

  @NullAsAbsent(flag(), {
    description:
      'Start without approval where a role allows it: with a reason, for an hour at most, after POST /auth/step-up. All ' +
      'administrators are notified, and another one reviews it',
  })
  breakGlass?: boolean;
}
