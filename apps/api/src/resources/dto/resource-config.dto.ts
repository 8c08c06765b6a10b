import { applyDecorators } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsInt, IsString, Matches, Max, Min } from 'class-validator';
import { DEFAULT_MAX_SILENCE_SECONDS, PROTOCOLS, type Protocol } from '#rules';
import { integerIn, MayBeAbsent, NullAsAbsent, oneOf, Optional, string, type Kind } from '../../http/fields';

const PRIORITY = integerIn(100, 4096, 'must be a whole number from 100 to 4096');

const hintOfEach = (message: string): { each: true; message: string } => ({ each: true, message });

const PORT_IN_LIST = hintOfEach('must hold ports from 1 to 65535');

const PORTS: Kind = {
  checks: [
    IsArray({ message: 'must be an array of ports' }),
    Max(65535, PORT_IN_LIST),
    Min(1, PORT_IN_LIST),
    IsInt(PORT_IN_LIST),
    ArrayMaxSize(20, { message: 'must hold at most 20 ports' }),
    ArrayNotEmpty({ message: 'must hold at least one port, or be left out' }),
  ],
  doc: { type: [Number] },
};

/** @param words the singular and the plural of an item, and of an item with its form */
const list = (
  maximum: number,
  pattern: RegExp,
  words: Record<'one' | 'many' | 'texts' | 'form', string>,
): Kind => ({
  checks: [
    IsArray({ message: `must be an array of ${words.texts}` }),
    IsString(hintOfEach(`must hold ${words.texts}`)),
    Matches(pattern, hintOfEach(`must hold ${words.form}`)),
    ArrayMaxSize(maximum, { message: `must hold at most ${maximum} ${words.many}` }),
    ArrayNotEmpty({ message: `must hold at least one ${words.one}, or be left out` }),
  ],
  doc: { type: [String] },
});

const NETWORK_TAGS = list(70, /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, {
  one: 'network tag',
  many: 'network tags',
  texts: 'network tags',
  form: 'network tags: lowercase letters, digits and hyphens, 63 at most',
});

const SERVICE_ACCOUNTS = list(10, /^[a-z0-9-]{1,100}@[a-z0-9.-]{1,200}$/, {
  one: 'service account',
  many: 'service accounts',
  texts: 'e-mail addresses of service accounts',
  form: 'e-mail addresses of service accounts',
});

/** Of port and ports, null is the same as left out only beside the other: alone, a number that is none would open every port. */
const NullBeside = (other: 'port' | 'ports', kind: Kind, doc: object): PropertyDecorator =>
  applyDecorators(
    Transform(({ value, obj }: { value: unknown; obj: Readonly<Record<string, unknown>> }) =>
      value === null && (obj[other] ?? null) !== null ? undefined : value,
    ),
    MayBeAbsent(kind, doc),
  );

@ApiSchema({
  description: 'The traffic to allow. With neither port nor ports: every port of the protocol.',
})
export class ResourceConfigDto {
  @NullBeside('ports', integerIn(1, 65535, 'must be a port from 1 to 65535'), {
    example: 5432,
    description: 'Every port when ports is left out as well',
  })
  port?: number;

  @NullBeside('port', PORTS, { example: [80, 443], description: 'Instead of port' })
  ports?: number[];

  @NullAsAbsent(oneOf(PROTOCOLS), { default: 'tcp' })
  protocol?: Protocol;

  @NullAsAbsent(NETWORK_TAGS, {
    example: ['database'],
    description: 'GCP: only instances with one of these network tags; left out: the whole network',
  })
  targetTags?: string[];

  @NullAsAbsent(SERVICE_ACCOUNTS, {
    example: ['database@production-123456.iam.gserviceaccount.com'],
    description: 'GCP: only instances that run as one of these service accounts. Instead of targetTags',
  })
  targetServiceAccounts?: string[];

  @NullAsAbsent(integerIn(0, 65535, 'must be a whole number from 0 to 65535'), {
    default: 1000,
    description: 'GCP: the priority of the rules. A smaller number comes first',
  })
  priority?: number;

  @NullAsAbsent(PRIORITY, { default: 1000, description: 'AZURE: the first priority that rules may take' })
  priorityFrom?: number;

  @NullAsAbsent(PRIORITY, { default: 3999, description: 'AZURE: the last priority that rules may take' })
  priorityTo?: number;

  @NullAsAbsent(
    string(
      Matches(/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,62})(\.[a-z0-9][-a-z0-9]{0,62})*$/i, {
        message: 'must be a host name',
      }),
    ),
    {
      example: 'admin.example.com',
      description: 'VERCEL: guards requests to this host only; left out: to every host of the project',
    },
  )
  hostname?: string;

  @NullAsAbsent(
    string(Matches(/^\/[\w.~!$&'()*+,;=:@%/-]{0,255}$/, { message: 'must be a path that begins with /' })),
    {
      example: '/admin',
      description: 'VERCEL: guards paths that begin with this only; left out: every path',
    },
  )
  pathPrefix?: string;

  @Optional(
    integerIn(60, 86400, 'must be a whole number of seconds from 60 to 86400, or null for no limit'),
    {
      nullable: true,
      default: DEFAULT_MAX_SILENCE_SECONDS,
      description:
        'AGENT: the host closes what is open after this long without a response of the server; null: not for that reason',
    },
  )
  maxSilenceSeconds?: number | null;
}
