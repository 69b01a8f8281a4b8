! SRS (Stop Restart Software) for Fortran: the calls of gridportal_srs.h. See docs/stop-and-restart.md.
!
! Communicators are integers, so that mpif.h, mpi and mpi_f08 will do: of mpi_f08 comm%MPI_VAL.
!
! Arrays are as Fortran has them: the first index runs fastest, shapes and layouts name the first dimension first, and
! ranks are numbered down the first dimension of the process grid (BLACS calls that column-major). A file has the same
! numbers with all dimensions in reverse: what is A(n, m) with block-cyclic:64x32:2x3 here is an array of m x n with
! block-cyclic:32x64:3x2 for C and Python.
module gridportal_srs
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr
    implicit none
    private
    public :: srs_session, srs_init, srs_finish, srs_restart_value, srs_check_stop, srs_register, srs_read
    public :: srs_checkpoint, srs_ask_stop, srs_store_map, srs_local_shape, srs_places, srs_seconds, srs_message

    integer, parameter, public :: srs_success = 0, srs_input = 1, srs_files = 2, srs_memory = 3, srs_mpi = 4
    integer, parameter, public :: srs_depots = 5
    integer, parameter, public :: srs_size = c_int64_t ! the kind of lengths
    character(*), parameter, public :: srs_integer1 = 'i1', srs_integer2 = 'i2', srs_integer4 = 'i4'
    character(*), parameter, public :: srs_integer8 = 'i8', srs_real = 'f4', srs_double = 'f8'
    character(*), parameter, public :: srs_complex = 'c8', srs_double_complex = 'c16'

    type :: srs_session
        private
        type(c_ptr) :: handle = c_null_ptr
    end type srs_session

    interface
        integer(c_int) function c_init(comm, folder, every, every_calls, in_foreground, depots, handle) &
                bind(c, name='srs_f_init')
            import :: c_char, c_double, c_int, c_int64_t, c_ptr
            integer(c_int), intent(in) :: comm, in_foreground
            character(kind=c_char), intent(in) :: folder(*), depots(*)
            real(c_double), intent(in) :: every
            integer(c_int64_t), intent(in) :: every_calls
            type(c_ptr), intent(out) :: handle
        end function c_init

        integer(c_int) function c_register(handle, name, data, count, kind, dimensions, shape, layout) &
                bind(c, name='srs_f_register')
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: handle, data
            character(kind=c_char), intent(in) :: name(*), kind(*), layout(*)
            integer(c_int64_t), intent(in) :: count, shape(*)
            integer(c_int), intent(in) :: dimensions
        end function c_register

        integer(c_int) function c_read(handle, name, old_layout, new_layout) bind(c, name='srs_f_read')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*), old_layout(*), new_layout(*)
        end function c_read

        integer(c_int) function c_local_shape(handle, layout, dimensions, shape, local) &
                bind(c, name='srs_f_local_shape')
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: layout(*)
            integer(c_int), intent(in) :: dimensions
            integer(c_int64_t), intent(in) :: shape(*)
            integer(c_int64_t), intent(out) :: local(*)
        end function c_local_shape

        integer(c_int) function c_places(handle, layout, dimensions, shape, dimension, count, places) &
                bind(c, name='srs_f_places')
            import :: c_char, c_int, c_int64_t, c_ptr
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: layout(*)
            integer(c_int), intent(in) :: dimensions, dimension
            integer(c_int64_t), intent(in) :: shape(*), count
            integer(c_int64_t), intent(out) :: places(*)
        end function c_places

        integer(c_int) function c_finish(handle) bind(c, name='SRS_Finish')
            import :: c_int, c_ptr
            type(c_ptr), value :: handle
        end function c_finish

        integer(c_int) function c_restart_value(handle) bind(c, name='SRS_RestartValue')
            import :: c_int, c_ptr
            type(c_ptr), value :: handle
        end function c_restart_value

        integer(c_int) function c_check_stop(handle) bind(c, name='SRS_CheckStop')
            import :: c_int, c_ptr
            type(c_ptr), value :: handle
        end function c_check_stop

        integer(c_int) function c_checkpoint(handle) bind(c, name='SRS_Checkpoint')
            import :: c_int, c_ptr
            type(c_ptr), value :: handle
        end function c_checkpoint

        integer(c_int) function c_ask_stop(handle) bind(c, name='SRS_AskStop')
            import :: c_int, c_ptr
            type(c_ptr), value :: handle
        end function c_ask_stop

        integer(c_int) function c_store_map(handle) bind(c, name='SRS_StoreMap')
            import :: c_int, c_ptr
            type(c_ptr), value :: handle
        end function c_store_map

        subroutine c_seconds(handle, writing, blocked, reading) bind(c, name='srs_f_seconds')
            import :: c_double, c_ptr
            type(c_ptr), value :: handle
            real(c_double), intent(out) :: writing, blocked, reading
        end subroutine c_seconds

        subroutine c_message(into, size) bind(c, name='srs_f_message')
            import :: c_char, c_int64_t
            character(kind=c_char), intent(out) :: into(*)
            integer(c_int64_t), intent(in) :: size
        end subroutine c_message
    end interface

contains

    function terminated(text) result(ended)
        character(*), intent(in) :: text
        character(kind=c_char, len=:), allocatable :: ended
        ended = trim(text) // c_null_char
    end function terminated

    ! After MPI_Init; an empty folder: what GRIDPORTAL_CHECKPOINTS names. `every`: seconds, `every_calls`: calls of
    ! srs_check_stop between checkpoints, 0: none; they are written in the background where memory allows, unless
    ! `in_foreground`. `depots`: the file that lets the program use depots; without it what GRIDPORTAL_DEPOTS names.
    subroutine srs_init(comm, folder, every, srs, ierror, every_calls, in_foreground, depots)
        integer, intent(in) :: comm
        character(*), intent(in) :: folder
        double precision, intent(in) :: every
        type(srs_session), intent(out) :: srs
        integer, intent(out) :: ierror
        integer, intent(in), optional :: every_calls
        logical, intent(in), optional :: in_foreground
        character(*), intent(in), optional :: depots
        character(kind=c_char, len=:), allocatable :: file
        integer(c_int64_t) :: calls
        integer(c_int) :: waits
        file = c_null_char
        calls = 0
        waits = 0
        if (present(depots)) file = terminated(depots)
        if (present(every_calls)) calls = every_calls
        if (present(in_foreground)) waits = merge(1, 0, in_foreground)
        ierror = c_init(int(comm, c_int), terminated(folder), real(every, c_double), calls, waits, file, srs%handle)
    end subroutine srs_init

    ! Before MPI_Finalize. A program that was not stopped is done: its checkpoints go.
    subroutine srs_finish(srs, ierror)
        type(srs_session), intent(inout) :: srs
        integer, intent(out) :: ierror
        ierror = c_finish(srs%handle)
        srs%handle = c_null_ptr
    end subroutine srs_finish

    ! 0 when the program starts, 1 when it goes on from a checkpoint.
    integer function srs_restart_value(srs)
        type(srs_session), intent(in) :: srs
        srs_restart_value = c_restart_value(srs%handle)
    end function srs_restart_value

    ! 1: the checkpoint is written, and the program does its own last actions and ends. The same on all ranks.
    integer function srs_check_stop(srs)
        type(srs_session), intent(in) :: srs
        srs_check_stop = c_check_stop(srs%handle)
    end function srs_check_stop

    ! Let checkpoints hold `data`, this rank's part of an array of `shape` in `layout`; replicated: the same on all ranks.
    ! `data` is contiguous, of the type that `kind` says, and stays where it is: a target, or allocated.
    subroutine srs_register(srs, name, data, kind, shape, layout, ierror)
        type(srs_session), intent(in) :: srs
        character(*), intent(in) :: name, kind, layout
        type(*), dimension(..), intent(in), target :: data
        integer(srs_size), intent(in) :: shape(:)
        integer, intent(out) :: ierror
        integer(c_int64_t) :: count
        count = size(data, kind=c_int64_t)
        if (.not. is_contiguous(data)) count = -1
        ierror = c_register(srs%handle, terminated(name), c_loc(data), count, terminated(kind), &
            int(size(shape), c_int), shape, terminated(layout))
    end subroutine srs_register

    ! Fill what is registered as `name`; layouts then and now are compared where they are there.
    subroutine srs_read(srs, name, ierror, old_layout, new_layout)
        type(srs_session), intent(in) :: srs
        character(*), intent(in) :: name
        integer, intent(out) :: ierror
        character(*), intent(in), optional :: old_layout, new_layout
        character(kind=c_char, len=:), allocatable :: then, now
        then = c_null_char
        now = c_null_char
        if (present(old_layout)) then = terminated(old_layout)
        if (present(new_layout)) now = terminated(new_layout)
        ierror = c_read(srs%handle, terminated(name), then, now)
    end subroutine srs_read

    ! Write a checkpoint of all that is registered, now.
    subroutine srs_checkpoint(srs, ierror)
        type(srs_session), intent(in) :: srs
        integer, intent(out) :: ierror
        ierror = c_checkpoint(srs%handle)
    end subroutine srs_checkpoint

    ! Ask for the stop from inside the program, on any rank.
    subroutine srs_ask_stop(srs)
        type(srs_session), intent(in) :: srs
        integer(c_int) :: done
        done = c_ask_stop(srs%handle)
    end subroutine srs_ask_stop

    ! Leave maps.json in the folder: ranks, hosts, and each array's type, shape and layout.
    subroutine srs_store_map(srs, ierror)
        type(srs_session), intent(in) :: srs
        integer, intent(out) :: ierror
        ierror = c_store_map(srs%handle)
    end subroutine srs_store_map

    ! How many elements this rank has in each dimension.
    subroutine srs_local_shape(srs, layout, shape, local, ierror)
        type(srs_session), intent(in) :: srs
        character(*), intent(in) :: layout
        integer(srs_size), intent(in) :: shape(:)
        integer(srs_size), intent(out) :: local(:)
        integer, intent(out) :: ierror
        ierror = c_local_shape(srs%handle, terminated(layout), int(size(shape), c_int), shape, local)
    end subroutine srs_local_shape

    ! Of dimension `dimension`, from 1: the place in the whole array, from 1, of each of this rank's elements.
    subroutine srs_places(srs, layout, shape, dimension, places, ierror)
        type(srs_session), intent(in) :: srs
        character(*), intent(in) :: layout
        integer(srs_size), intent(in) :: shape(:)
        integer, intent(in) :: dimension
        integer(srs_size), intent(out) :: places(:)
        integer, intent(out) :: ierror
        ierror = c_places(srs%handle, terminated(layout), int(size(shape), c_int), shape, int(dimension, c_int), &
            size(places, kind=c_int64_t), places)
    end subroutine srs_places

    ! Seconds so far: until checkpoints were written, for how much of that the program stood still, and reading.
    subroutine srs_seconds(srs, writing, blocked, reading)
        type(srs_session), intent(in) :: srs
        double precision, intent(out) :: writing, blocked, reading
        real(c_double) :: each(3)
        call c_seconds(srs%handle, each(1), each(2), each(3))
        writing = each(1)
        blocked = each(2)
        reading = each(3)
    end subroutine srs_seconds

    ! The sentence of the last call that gave an error code.
    function srs_message() result(sentence)
        character(len=1023) :: sentence
        call c_message(sentence, int(len(sentence), c_int64_t))
    end function srs_message

end module gridportal_srs
