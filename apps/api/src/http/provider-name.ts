import { PROVIDERS } from '#rules';
import { oneOf, type Kind } from './fields';

/** A provider in the OpenAPI document: no enum, so that clients generated today can read the names of later providers. */
export const PROVIDER_NAME = { type: String, example: 'AWS', 'x-known-values': PROVIDERS };

/** In the body of a request, where it must be known. */
export const providerName = (): Kind => ({ ...oneOf(PROVIDERS), doc: PROVIDER_NAME });
