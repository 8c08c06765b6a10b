import { Badge, Copyable, Muted } from '../../ui';
import styles from './access.module.css';
import { outcomeOf, resourcesOf, type Outcome, type Session, type SessionResource } from './sessions';

/** Every resource of a session, with what became of it in words. */
export const Outcomes = ({ session }: { readonly session: Session }) => (
  <ul className={styles['outcomes']}>
    {resourcesOf(session).map((resource) => (
      <li key={resource.id} className={styles['outcome']}>
        <strong>{resource.name}</strong>
        <div className={styles['states']}>
          {linesOf(resource, session).map((line) => (
            <State key={line.key} line={line} />
          ))}
          {warningsOf(resource).map((warning) => (
            <Muted key={warning}>Note: {warning}</Muted>
          ))}
        </div>
        {resource.endpoint === null || !isOpen(resource) ? null : (
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
function linesOf({ ips, skipped }: SessionResource, session: Session): readonly Line[] {
  const all = ips.map((ip) => ({ ...outcomeOf(ip, session), key: ip.id, address: ip.ipAddress }));
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
    <Badge tone={tone}>{text}</Badge> {address === null ? null : <code>{address}</code>}
    {detail === null ? null : (
      <div className={tone === 'bad' ? styles['bad'] : styles['detail']}>{detail}</div>
    )}
  </div>
);

const warningsOf = ({ ips }: SessionResource): readonly string[] => [
  ...new Set(ips.flatMap(({ warnings }) => warnings)),
];
