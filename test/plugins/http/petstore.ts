/** A small OpenAPI document with what real ones have: references, shared parameters, a schema that names itself. */
export const petstore = (server: string): string => `
openapi: 3.0.3
info: { title: Pets, version: "1" }
servers: [{ url: "${server}" }]
paths:
  /pets/{petId}:
    parameters:
      - $ref: "#/components/parameters/PetId"
    get:
      operationId: getPet
      summary: Finds a pet by its number
      parameters:
        - { name: X-Lang, in: header, schema: { type: string } }
        - { name: session, in: cookie, schema: { type: string } }
      responses: { "200": { description: the pet } }
  /pets:
    get:
      operationId: findPets
      description: Finds pets by their tags
      parameters:
        - { name: tags, in: query, schema: { type: array, items: { type: string } } }
        - { name: limit, in: query, schema: { type: integer } }
    post:
      operationId: addPet
      description: Adds a pet to the store
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: "#/components/schemas/Pet" }
components:
  parameters:
    PetId: { name: petId, in: path, required: true, description: Number of the pet, schema: { type: integer } }
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: { type: string }
        friends: { type: array, items: { $ref: "#/components/schemas/Pet" } }
`;
