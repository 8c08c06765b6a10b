import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { administratorRoute, openRoute, signedInRoute } from '../layout/roots';

type Given = Record<string, unknown>;

/** Screens below a route. Their code is loaded when they are opened; `search` reads what their address holds. */
const screensBelow =
  <Parent extends AnyRoute>(parent: Parent) =>
  <Path extends string, Name extends string, Search extends object = object>(
    path: Path,
    load: () => Promise<Record<Name, () => ReactNode>>,
    name: Name,
    search: (given: Given) => Search = () => ({}) as Search,
  ) =>
    createRoute({
      getParentRoute: () => parent,
      path,
      validateSearch: search,
      component: lazyRouteComponent(load, name),
    });

/** For who has not signed in. */
export const openScreen = screensBelow(openRoute);
export const memberScreen = screensBelow(signedInRoute);
export const administratorScreen = screensBelow(administratorRoute);
