select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", (t1."doc" #> $1::text[]) as "doc_a_b_0_json", (t1."doc" #> $2::text[]) as "doc_n_json", (t1."plain"::jsonb #> $3::text[]) as "plain_a_json", (t1."cast"::jsonb #> $4::text[]) as "cast_c_json" from "public"."thing" t1 order by t1."id" limit 100) r
-- [["a","b","0"],["n"],["a"],["c"]]
