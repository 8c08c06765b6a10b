import { randomUUID } from 'node:crypto';

export interface DocumentedOperation {
  /** `GET /roles/{id}` */
  readonly name: string;
  readonly method: string;
  /** relative to the API's base, with ids that do not exist */
  readonly path: string;
  readonly template: string;
  readonly takesBody: boolean;
  /** names of the parameters, UUIDs in the path included */
  readonly parameters: readonly string[];
  readonly pathIds: readonly string[];
  readonly guarded: boolean;
  readonly takesKeys: boolean;
  /** the rate limiter counts it */
  readonly counted: boolean;
}

interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedDetails>>>>;
}

interface DocumentedDetails {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema?: { readonly format?: string };
  }[];
  readonly security?: readonly Record<string, unknown>[];
  readonly responses: Readonly<Record<string, unknown>>;
}

/** One that is not counted is answered with 429 to those only who guess credentials. */
const isCounted = (tooMany: unknown): boolean =>
  tooMany !== undefined && !JSON.stringify(tooMany).includes('Uncounted');

const WITH_BODY: ReadonlySet<string> = new Set(['post', 'put', 'patch']);

/** Every documented operation of the API itself, for tests of all of them; downloads are outside its prefix. @param base URL of the API with its prefix */
export async function documentedOperations(base: string): Promise<DocumentedOperation[]> {
  const response = await fetch(`${base}/openapi.json`);
  const { paths } = (await response.json()) as Documented;
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, details]) => operationOf(path, method, details)),
    );
}

function operationOf(path: string, method: string, details: DocumentedDetails): DocumentedOperation {
  const template = path.replace(/^\/api\/v1/, '');
  const parameters = details.parameters ?? [];
  const schemes = (details.security ?? []).flatMap((one) => Object.keys(one));
  return {
    name: `${method.toUpperCase()} ${template}`,
    method: method.toUpperCase(),
    path: template.replaceAll(/\{\w+\}/g, () => randomUUID()),
    template,
    takesBody: WITH_BODY.has(method),
    parameters: parameters.map(({ name }) => name),
    pathIds: parameters
      .filter((one) => one.in === 'path' && one.schema?.format === 'uuid')
      .map(({ name }) => name),
    guarded: schemes.length > 0,
    takesKeys: schemes.includes('apiKey'),
    counted: isCounted(details.responses['429']),
  };
}
