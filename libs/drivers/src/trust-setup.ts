/** What the commands name that make a cloud trust the organization's issuer. */
export interface TrustSetup {
  /** the organization's issuer, an https URL */
  readonly issuer: string;
  /** the `sub` claim of the credential's tokens: `org:<organization id>:credential:<credential id>` */
  readonly subject: string;
  /** the credential's fields that are not secret; a field without a value becomes a word in capitals */
  readonly hints: Readonly<Record<string, string>>;
  /** the external id of a role that Drawbridge's own identity assumes; absent: a word in capitals */
  readonly externalId?: string | undefined;
  /** for every account below it: an organizational unit, a management group, a folder; absent: for one account */
  readonly scope?: string | undefined;
}

/** A text as one word of a shell: commands are pasted by other people than those who named what is in them. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A command that writes a file. */
export const writing = (file: string, text: string): string =>
  `cat > ${file} <<'END'\n${text.trimEnd()}\nEND`;

/**
 * A command for what may exist already: commands are pasted again, and by then their later ones have to run.
 * What exists stays as it is, because another program's may have the same name.
 */
export const unless = (exists: string, make: string): string => `${exists} > /dev/null 2>&1 ||\n  ${make}`;
