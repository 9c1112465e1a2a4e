select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."widget" t1 where ((t1."doc" #>> $1::text[]) = $2::text) order by t1."id" limit 100) r
-- [["color"],"red"]
