import type { UseQueryResult } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { $api, signIn, type Schemas, type SignIn } from '../api';

export const useSignIn = (): SignIn => useSyncExternalStore(signIn.follow, signIn.get);

/** The signed-in person, and what its organization allows. */
export const useMe = (): UseQueryResult<Schemas['MeDto'], unknown> => $api.useQuery('get', '/api/v1/auth/me');
