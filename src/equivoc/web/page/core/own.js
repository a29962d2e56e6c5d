// Objects whose names come from a file: a key may be called constructor or __proto__, which every object inherits.

/** The object's own value of this name, never an inherited one. */
export const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);
