import { Badge, Code, Copyable, Muted, unbroken } from '../ui';
import styles from './parts.module.css';
import { ProviderMessage } from './provider-message';
import { outcomeOf, resourcesOf, type Outcome, type Session, type SessionResource } from './sessions';

/** Longer lists are folded, but for what is not as it should be. */
const MAX_UNFOLDED = 10;

interface OutcomesProps {
  readonly session: Session;
  /** in a cell of a table */
  readonly isShort?: boolean;
}

/** Every resource of a session, with what became of it in words. */
export function Outcomes(given: OutcomesProps) {
  const { session, isShort } = given;
  const resources = resourcesOf(session);
  if (resources.length <= (isShort ? 4 : MAX_UNFOLDED)) return <List of={resources} {...given} />;
  const notable = resources.filter((one) => linesOf(one, given).some(({ tone }) => tone !== 'good'));
  const others = resources.filter((one) => !notable.includes(one));
  const folded = others.length === 0 ? notable : others;
  return (
    <>
      {others.length === 0 ? null : <List of={notable} {...given} />}
      <details>
        <summary>
          {folded.length} resources:{' '}
          {[...new Set(folded.map((one) => linesOf(one, given)[0]?.text))].join(', ')}
        </summary>
        <List of={folded} {...given} />
      </details>
    </>
  );
}

const List = ({
  of,
  session,
  isShort = false,
}: OutcomesProps & { readonly of: readonly SessionResource[] }) => (
  <ul className={styles['outcomes']}>
    {of.map((resource) => (
      <li key={resource.id} className={styles['outcome']}>
        <strong>{resource.name}</strong>
        <div className={styles['states']}>
          {linesOf(resource, { session, isShort }).map((line) => (
            <State key={line.key} line={line} />
          ))}
          {warningsOf(resource).map((warning) => (
            <Muted key={warning}>Note: {warning}</Muted>
          ))}
        </div>
        {isShort || resource.endpoint === null || !isOpen(resource) ? null : (
          <Copyable label={`Address of ${resource.name}`} text={resource.endpoint} />
        )}
      </li>
    ))}
  </ul>
);

const isOpen = ({ ips }: SessionResource): boolean => ips.some(({ status }) => status === 'APPLIED');

interface Line extends Outcome {
  readonly key: string;
  /** null: both are the same */
  readonly address: string | null;
}

/** One line for a resource where all its addresses fare alike, else one for each. */
function linesOf(
  { ips, skipped }: SessionResource,
  { session, isShort = false }: OutcomesProps,
): readonly Line[] {
  const all = ips.map((ip) => ({ ...outcomeOf(ip, session, isShort), key: ip.id, address: ip.ipAddress }));
  const [first] = all;
  const isAlike = all.every(({ text, detail }) => text === first?.text && detail === first.detail);
  const lines: Line[] = first && isAlike ? [{ ...first, address: null }] : all;
  const left = skipped.map(({ ipAddress, reason }) => ({
    key: ipAddress,
    address: ipAddress,
    text: 'left out',
    tone: 'neutral' as const,
    detail: reason,
  }));
  return [...lines, ...left];
}

const State = ({ line: { text, tone, detail, address } }: { readonly line: Line }) => (
  <div>
    <Badge tone={tone}>{text}</Badge> {address === null ? null : <Code>{address}</Code>}
    {detail === null ? null : tone === 'bad' ? (
      <ProviderMessage of={detail} />
    ) : (
      <div className={styles['detail']}>{unbroken(detail)}</div>
    )}
  </div>
);

const warningsOf = ({ ips }: SessionResource): readonly string[] => [
  ...new Set(ips.flatMap(({ warnings }) => warnings)),
];
