import { Children, Fragment, type ReactNode } from 'react';
import { CopyButton } from './copyable';
import styles from './code.module.css';

/** How long a piece is that fits on a line of the smallest screen; in smaller letters; in the smallest ones. */
const [SHORT, LONG, LONGEST] = [28, 39, 43];
/** Of an e-mail address; longer ones break anywhere: they are names, and take no room from what is beside them. */
const MAIL = 16;

function lookOf({ length }: string, most: number): string | undefined {
  if (length > most) return undefined;
  const size = length > LONG ? styles['longer'] : length > SHORT ? styles['long'] : undefined;
  return [styles['whole'], size].filter(Boolean).join(' ');
}

const RANGE = /^[\d.a-f:]+\/\d+$/i;

/** Paths continue on another line before a slash, e-mail addresses before the @, ranges nowhere. */
const piecesOf = (text: string): readonly string[] => (RANGE.test(text) ? [text] : text.split(/(?=[/@])/));

const Pieces = ({ of }: { readonly of: string }) =>
  piecesOf(of).map((piece, index) => (
    <Fragment key={`${index} ${piece}`}>
      {index === 0 ? null : <wbr />}
      <span className={lookOf(piece, of.includes('@') ? MAIL : LONGEST)}>{piece}</span>
    </Fragment>
  ));

interface CodeProps {
  readonly children: string;
  /** of a button beside it that copies it: what it is */
  readonly copied?: string;
}

/** An address, a range or an identifier. It stays on one line: `203.0.113.56/3` would be a range, too. */
export function Code({ children, copied }: CodeProps) {
  const code = (
    <code>
      <Pieces of={children} />
    </code>
  );
  if (copied === undefined) return code;
  return (
    <span className={styles['copied']}>
      {code} <CopyButton text={children} label={copied} kind="plain" />
    </span>
  );
}

/** IPv4, IPv6, an e-mail address, a UUID, a region, and identifiers as of a security group or a key. */
const NAMED =
  /((?:\b\d{1,3}\.){3}\d{1,3}(?:\/\d+)?|(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?:\/\d+)?|\b[\w.+-]{1,64}@[\w.-]{1,255}\w|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|\b[a-z]{2,8}-[\da-f]{8,}\b|\b[a-z]{2,8}(?:-[a-z]{1,12}){1,2}-?\d{1,2}\b|\bdbk_\w+)/i;

/** Texts whose addresses and identifiers stay on one line each. Elements are drawn as they are. */
export const unbroken = (texts: ReactNode): ReactNode =>
  Children.map(texts, (child) =>
    typeof child === 'string'
      ? child.split(NAMED).map((part, index) => (index % 2 === 0 ? part : <Pieces key={index} of={part} />))
      : child,
  );
