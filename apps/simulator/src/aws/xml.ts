import { randomUUID } from 'node:crypto';
import type { CloudError } from '../cloud-error';
import type { CloudAnswer } from '../provider';

/** Content of an answer: a list becomes `<item>` elements, undefined members are left out. */
type XmlContent = string | number | boolean | XmlStructure | XmlContent[];
export interface XmlStructure {
  readonly [name: string]: XmlContent | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

function renderXml(content: XmlContent): string {
  if (typeof content !== 'object') return escape(String(content));
  const members = Array.isArray(content)
    ? content.map((item): [string, XmlContent] => ['item', item])
    : Object.entries(content);
  return members
    .map(([name, member]) => (member === undefined ? '' : `<${name}>${renderXml(member)}</${name}>`))
    .join('');
}

/**
 * An answer with an XML document.
 * @param content given the request's id, which the document repeats
 * @param error omitted: the call succeeded
 */
export function xmlAnswer(
  name: string,
  namespace: string | null,
  content: (requestId: string) => XmlStructure,
  { status, code }: Pick<CloudError, 'status' | 'code'> = { status: 200, code: 'OK' },
): CloudAnswer {
  const requestId = randomUUID();
  const attribute = namespace ? ` xmlns="${namespace}"` : '';
  return {
    status,
    outcome: code,
    headers: { 'content-type': 'text/xml;charset=UTF-8', 'x-amzn-requestid': requestId },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${attribute}>${renderXml(content(requestId))}</${name}>`,
  };
}
